// Runs in the browser: synthesizes the text of the form. The credentials in it are sent to this
// service only, and only in headers.
const form = document.querySelector("#try");
const audio = document.querySelector("audio");
const status = document.querySelector("#status");

let current = new AbortController();

const show = (text, isError = false) => {
  status.textContent = text;
  status.classList.toggle("error", isError);
};

const headersOf = ({ key, secret }) => ({
  "Content-Type": "application/json",
  "X-API-Key": key.value.trim(),
  // Without a secret, the service checks that this page's origin is a verified origin of the key's
  // website.
  ...(secret.value !== "" && { "X-API-Secret": secret.value.trim() }),
});

const synthesize = async ({ key, secret, voice, text }, signal) => {
  const response = await fetch(new URL("v2/text/synthesize", new URL(form.dataset.base, location.href)), {
    method: "POST",
    headers: headersOf({ key, secret }),
    body: JSON.stringify({ voice: voice.value, text: text.value }),
    signal,
  });
  if (response.ok) return response;
  const { error } = await response.json();
  throw new Error(error.message);
};

const play = async (response) => {
  URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(await response.blob());
  audio.hidden = false;
  const seconds = Number(response.headers.get("X-Audio-Duration") ?? Number.NaN);
  show(Number.isFinite(seconds) ? `${seconds.toFixed(1)} seconds of audio.` : "Audio received.");
  await audio.play().catch(() => {}); // the browser wants another click, on the audio's own controls
};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  current.abort();
  current = new AbortController();
  const { signal } = current;
  show("Synthesizing…");
  try {
    const response = await synthesize(form.elements, signal);
    if (!signal.aborted) await play(response);
  } catch (error) {
    if (!signal.aborted) show(error.message, true);
  }
});
