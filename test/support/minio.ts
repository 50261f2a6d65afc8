import { type S3Server, startS3Server } from "./s3-server.ts";

export const startMinio = (): Promise<S3Server> =>
  startS3Server({
    name: "minio",
    readyPath: "/minio/health/cluster",
    command: ({ port, folder, accessKey, secretKey }) => ({
      args: ["server", "--quiet", "--address", `127.0.0.1:${port}`, folder],
      env: {
        MINIO_ROOT_USER: accessKey,
        MINIO_ROOT_PASSWORD: secretKey,
        MINIO_BROWSER: "off",
        MINIO_UPDATE: "off",
      },
    }),
  });
