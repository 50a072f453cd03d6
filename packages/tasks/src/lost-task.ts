/** Another process runs the task, or it has ended. */
export class LostTask extends Error {
  override readonly name = 'LostTask';

  constructor(id: string) {
    super(`The task ${id} was taken over by another process, or has ended.`);
  }
}
