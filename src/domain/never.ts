/**
 * Makes the compiler check that a switch is exhaustive. At run time it returns the state: an event
 * of a newer release changes nothing.
 */
export const never = <S>(_case: never, state: S): S => state;
