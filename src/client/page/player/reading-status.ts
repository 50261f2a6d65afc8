// The package's types have everything that the modules depend on: this one depends on nothing.
export type ReadingStatus = "idle" | "loading" | "playing" | "paused" | "failed" | "unavailable";
