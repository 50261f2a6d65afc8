/**
 * Makes the compiler check that a switch is exhaustive. At run time (an event of a newer release)
 * returns the state.
 */
export const never = <S>(_case: never, state: S): S => state;
