export { parse } from "../domain/validation.ts";
