/** The environment variable that gives the workers a secret, if the user has none. */
export const RANDOM_SECRET = 'DECORUM_RANDOM_SECRET';
