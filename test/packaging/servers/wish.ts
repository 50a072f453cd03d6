import { z } from 'zod';

export class Wish {
  static readonly schema = z.object({ text: z.string().min(3), times: z.number().int().default(1) });
  text!: string;
  times!: number;
}

export const zod = [];
