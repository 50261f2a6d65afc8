import { createScheduler } from "../../../src/async/scheduler/scheduler.ts";
import { resourceContract } from "../../contracts/resource.ts";

resourceContract("of one process", (options, time) => createScheduler({ time }).resource("tools", options));
