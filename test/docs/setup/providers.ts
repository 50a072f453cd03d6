import { Tool } from '@decorum/core';
import { IsString } from 'class-validator';

export class Booking {
  @IsString() room!: string;
}

export class Calendar {
  @Tool({ description: 'What is on today' })
  today() {
    return 'Nothing.';
  }
}

export const connection = {};

export class Mail {
  constructor(readonly server: object = {}) {}

  @Tool({ description: 'Counts unread messages' })
  unread() {
    return 0;
  }
}

export class Clock {
  @Tool({ description: 'Tells the time' })
  now() {
    return '12:00';
  }
}

export class Maps {
  @Tool({ description: 'Finds a street' })
  find() {
    return 'Here.';
  }
}

export class Orders {
  @Tool({ description: 'Lists orders' })
  orders() {
    return [];
  }
}

export class Reports {
  @Tool({ description: 'Makes a report' })
  report() {
    return 'All is well.';
  }
}

export class Files {
  static async create(): Promise<Files> {
    return new Files();
  }

  @Tool({ description: 'Lists files' })
  files() {
    return [];
  }
}

export class Rooms {
  book(room: string) {
    return `${room} is yours.`;
  }
}

export class Lookup {
  @IsString() text!: string;
}

export const find = ({ text }: Lookup) => `Found ${text}.`;
