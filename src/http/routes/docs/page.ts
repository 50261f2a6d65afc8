/** The page. `base`: the relative way from its address to the service's root; `assets`: where its files lie. */
export const docsPage = (base: string, assets: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Voxledger API</title>
    <link rel="stylesheet" href="${base}${assets}/swagger-ui.css">
    <link rel="icon" type="image/png" sizes="32x32" href="${base}${assets}/favicon-32x32.png">
  </head>
  <body>
    <div id="description" data-url="${base}openapi.json"></div>
    <script src="${base}${assets}/swagger-ui-bundle.js"></script>
    <script src="${base}${assets}/start.js"></script>
  </body>
</html>
`;

/**
 * Nothing from elsewhere, nothing inline, and no frame around it. "Try it out" asks the API where
 * the description says it is.
 */
export const contentSecurityPolicy = (publicUrl: string | undefined): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${publicUrl ? ` ${new URL(publicUrl).origin}` : ""}`,
    "media-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
