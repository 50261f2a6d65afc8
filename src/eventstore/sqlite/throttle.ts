/** Acts at once; of the calls that follow within `ms`, however many, makes one act at the end of that time. */
export const throttle = (ms: number, act: () => void): (() => void) => {
  let resting = false;
  let calledAgain = false;
  const gust = (): void => {
    resting = true;
    calledAgain = false;
    setTimeout(() => {
      resting = false;
      if (calledAgain) gust();
    }, ms).unref();
    act();
  };
  return () => {
    if (resting) calledAgain = true;
    else gust();
  };
};
