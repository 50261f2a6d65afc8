import { z } from "zod";
import { reason } from "../domain/accounts/key.ts";
import { parse } from "../domain/validation.ts";

const options = z.object({ "--reason": reason });

/** @throws {Invalid} which names the option */
export const parseReason = (text: string): string => parse(options, { "--reason": text })["--reason"];
