/** The oldest Node that is supported. Plain Node without dependencies, as everything that the set-up reads. */
export const minimumNodeMajor = 20;
