// Exits with 0 if the service is ready. The image has no curl.
const { HOST = "", PORT = "8080" } = process.env;
const isAny = HOST === "" || HOST === "0.0.0.0" || HOST === "::";
const host = isAny ? "127.0.0.1" : HOST.includes(":") ? `[${HOST}]` : HOST;
try {
  const response = await fetch(`http://${host}:${PORT}/health/ready`, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = response.ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
