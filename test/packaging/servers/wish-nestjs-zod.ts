import { APP_PIPE } from '@nestjs/core';
import { createZodDto, ZodValidationPipe } from 'nestjs-zod';
import { z } from 'zod';

export class Wish extends createZodDto(z.object({ text: z.string().min(3), times: z.number().int().default(1) })) {}

export const zod = [{ provide: APP_PIPE, useClass: ZodValidationPipe }];
