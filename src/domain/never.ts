/** Makes the compiler refuse a switch that forgets a case; at run time (an event of a newer version) it changes nothing. */
export const never = <S>(_case: never, state: S): S => state;
