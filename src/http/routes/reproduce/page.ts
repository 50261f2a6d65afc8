interface ReproducePage {
  /** The relative path from the page to the root of the service. */
  readonly base: string;
  /** The path of its scripts. */
  readonly assets: string;
  /**
   * The SHA-256 digests of the files that the page needs, by name. Neither digests nor names
   * contain a character that HTML must escape, so only the quotes of the JSON are escaped.
   */
  readonly digests: Readonly<Record<string, string>>;
}

export const reproducePage = ({ base, assets, digests }: ReproducePage): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    <title>Voxledger: reproduce audio</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${base}${assets}/reproduce.css">
    <script type="module" src="${base}${assets}/reproduce.js"></script>
  </head>
  <body data-base="${base}" data-files="${JSON.stringify(digests).replaceAll('"', "&quot;")}">
    <main>
      <h1>Is this what was charged?</h1>
      <p>This page computes the audio of a text in your browser, and compares its samples with those that the service
        keeps. It sends the text only to name the audio, and if you have it spoken.</p>
      <form id="request" autocomplete="off">
        <label>Who you are
          <select name="role"><option value="website">a website</option><option value="operator">an operator</option></select></label>
        <label>Key <input name="apiKey" required></label>
        <label>Secret of the key, or your token <input name="secret" type="password" required></label>
        <label class="whole">Text <textarea name="text" rows="4" required></textarea></label>
        <label>Voice <input name="voice" required value="UK English Female"></label>
        <label>Format
          <select name="format"><option>wav</option><option>flac</option><option>pcm</option><option>mp3</option></select></label>
        <label>Rate <input name="rate" type="number" min="0" max="2" step="any" value="1" required></label>
        <label>Pitch <input name="pitch" type="number" min="0" max="2" step="any" value="1" required></label>
        <label>Volume <input name="volume" type="number" min="0" max="1" step="any" value="1" required></label>
        <label class="whole">Name in the ledger, if you have it <input name="ledgerName" pattern="\\s*[0-9a-fA-F]{64}\\s*">
          <small>The hash of an entry, or the name in <code>Content-Location</code> or <code>ETag</code>: 64 digits.</small></label>
        <button type="submit">Compare</button>
      </form>
      <p id="result" role="status"></p>
      <p id="actions"></p>
      <dl id="facts"></dl>
      <noscript>This page needs JavaScript.</noscript>
    </main>
  </body>
</html>
`;
