/*
 * The service's rules of sentences, with the abbreviations of many languages, served as `/client-sentences.js`. Loaded with the
 * first long text.
 */
export { sentencesOf } from "../domain/text/sentences.ts";
