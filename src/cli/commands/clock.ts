import type { AcceptedClock } from "../../application/clock/accept-clock.ts";
import { count } from "../columns.ts";
import { operator, type Register } from "../command.ts";

/** Adds the command `clock`. */
export const registerClockCommands: Register = (program, { write }) => {
  program
    .command("clock")
    .description("say that this machine's clock is right")
    .command("accept")
    .description(
      "after the clock was set and corrected: record that it is right now, so that instances that stopped recording go on",
    )
    .action(write(acceptedText, ({ acceptClock }) => acceptClock(operator)));
};

const acceptedText = ({ accepted, corrected }: AcceptedClock): string =>
  corrected
    ? `accepted: it is ${accepted}. ${count(corrected.servings)} servings were recorded with later times, up to ${corrected.until}; they stay in their months`
    : `accepted: it is ${accepted}`;
