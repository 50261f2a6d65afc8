/*
 * The service serves its rules of sentences, with the abbreviations of many languages, as
 * `/client-sentences.js`. The library loads them with the first long text.
 */
export { sentencesOf } from "../domain/text/sentences.ts";
