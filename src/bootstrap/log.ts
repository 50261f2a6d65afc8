import pino, { type Logger } from "pino";

/** Structured lines on standard output. Nothing that a request says or proves itself with is ever given to it. */
export const createLog = (level: string): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
