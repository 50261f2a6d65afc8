/* This file has the upper bounds of the buckets of histograms. */

/**
 * OpenTelemetry's own buckets for HTTP, with finer ones at the fast end: most responses come from
 * memory.
 */
export const requestSeconds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];
export const workSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
export const waitSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
export const storeSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30,
];
export const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];
