import { Context, Describe, NoInput, Tool } from '@decorum/core';
import { IsString, MaxLength } from 'class-validator';

/** How many notes are kept for each caller. */
const MAX_NOTES = 20;

class Note {
  @IsString() @MaxLength(200) @Describe('What to remember') text!: string;
}

/** Tools that remember something for their caller from call to call. */
export class Notes {
  @Tool({ name: 'take_note', description: 'Remembers a note for the caller' })
  async takeNote({ text }: Note, ctx: Context) {
    const notes = await ctx.memory<string[]>('notes').update((now = []) => [...now, text].slice(-MAX_NOTES));
    return `Notes: ${notes.length}`;
  }

  @Tool({ name: 'read_notes', description: 'Reads the notes of the caller', annotations: { readOnlyHint: true } })
  async readNotes(_input: NoInput, ctx: Context) {
    const notes = (await ctx.memory<string[]>('notes').get()) ?? [];
    return notes.join('\n') || 'There are no notes.';
  }

  @Tool({ name: 'forget_notes', description: 'Deletes the notes of the caller' })
  async forgetNotes(_input: NoInput, ctx: Context) {
    await ctx.memory('notes').delete();
    return 'Forgotten.';
  }
}
