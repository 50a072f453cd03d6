import { Context, Resource, Tool } from '@decorum/core';
import { describe, expect, it } from '@jest/globals';
import { Body, Headers, Injectable, Ip, Query, Res } from '@nestjs/common';
import { IsString } from 'class-validator';

import { serve } from './fixture.js';

class Note {
  @IsString() text!: string;
}

describe('a parameter decorator that has no value over MCP', () => {
  @Injectable()
  class WithBody {
    @Tool() find(@Body() query: Note) {
      return query.text;
    }
  }
  @Injectable()
  class WithQuery {
    @Tool() find(query: Note, @Query('page') page: string) {
      return query.text + page;
    }
  }
  @Injectable()
  class WithResponse {
    @Tool() find(query: Note, @Res() response: object) {
      return query.text + typeof response;
    }
  }

  @Injectable()
  class WithContext {
    @Tool() find(query: Note, @Headers() ctx: Context) {
      return query.text + typeof ctx;
    }
  }
  @Injectable()
  class WithList {
    @Resource('notes://{text}', { list: 'all' }) note({ text }: Note) {
      return text;
    }
    all(@Ip() ip: string) {
      return [`notes://${ip}`];
    }
  }

  it.each([
    [WithList, 'WithList.all: the decorator of the parameter 1 has no value, because the method lists resources. Call'],
    [WithBody, 'WithBody.find: @Body (or @Payload) of the parameter 1 has no value in a call over MCP'],
    [WithContext, 'WithContext.find: the parameter 2 is the context, and its decorator (@Ctx or @Headers) gives it'],
    [WithQuery, 'WithQuery.find: @Query of the parameter 2 has no value'],
    [WithResponse, 'WithResponse.find: @Res of the parameter 2 has no value in a call over MCP. Return the result'],
  ])('fails at startup: %p (#23)', async (provider, problem) => {
    await expect(serve([provider])).rejects.toThrow(problem);
  });
});
