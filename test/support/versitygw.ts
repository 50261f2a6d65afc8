import { type S3Server, startS3Server } from "./s3-server.ts";

export const startVersitygw = (): Promise<S3Server> =>
  startS3Server({
    name: "versitygw",
    readyPath: "/health",
    command: ({ port, folder, accessKey, secretKey }) => ({
      args: [
        ...["--port", `127.0.0.1:${port}`, "--health", "/health", "--keep-alive", "--iam-dir", folder],
        ...["posix", folder],
      ],
      env: { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
    }),
  });
