import { jest } from '@jest/globals';

import { afterwards } from './fixture.js';

/** Stops the clock until the end of the test. Returns a function that moves it forward by some milliseconds. */
export function stopClock(): (ms: number) => void {
  let now = Date.now();
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  afterwards(() => clock.mockRestore());
  return (ms) => {
    now += ms;
  };
}
