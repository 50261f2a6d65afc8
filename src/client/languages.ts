/*
 * The service serves its rules of languages, with the frequent words of many, as
 * `/client-languages.js`. The library loads them with the first text whose declared language is
 * doubtful.
 */
export { detectLanguage } from "../domain/text/detection/detect-language.ts";
