import { describe, expect, it } from '@jest/globals';

import { parsePage, sectionText } from '../src/page.js';
import { START } from './folder.js';

const parse = (text: string) => parsePage({ path: 'guide/start.md', text, size: 0, modified: '' });

describe('A page', () => {
  it('has a section for each heading outside of code blocks', () => {
    expect(parse(START).sections.map(({ level, anchor }) => `${level} ${anchor}`)).toEqual([
      '1 getting-started',
      '2 install-the-server',
      '2 session-timeout',
      '3 changing-the-timeout',
      '2 next-steps',
    ]);
  });

  it('is titled by its first heading, or else by its file name', () => {
    expect(parse('before\n\n## *Second* [level](x.md) ##\n').title).toBe('Second level');
    expect(parse('no heading').title).toBe('start');
  });

  it('keeps front matter in its text but not in its sections', () => {
    const page = parse('---\ntitle: x\n# no heading\n---\n# Title\n');
    expect(page.sections.map(({ heading }) => heading)).toEqual(['Title']);
    expect(page.text).toContain('title: x');
  });

  it('numbers repeated anchors, and keeps letters of other languages', () => {
    const { sections } = parse('# Größe & Maß\n# Größe & Maß\n# `a.b()` c_d\n');
    expect(sections.map(({ anchor }) => anchor)).toEqual(['größe--maß', 'größe--maß-1', 'ab-c_d']);
  });

  it('closes a code block only with a fence as long as the one that opened it', () => {
    expect(parse('````\n```\n# a\n````\n# b\n').sections.map(({ heading }) => heading)).toEqual(['', 'b']);
  });

  it('returns a section with its subsections', () => {
    const text = sectionText(parse(START), 'session-timeout');
    expect(text).toMatch(/^## Session timeout\n\nA session ends/);
    expect(text).toContain('### Changing the timeout');
    expect(text).not.toContain('Next steps');
    expect(sectionText(parse(START), 'nowhere')).toBeUndefined();
  });
});
