import { lstat, mkdir, readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { Tool, ToolError } from '@decorum/core';

import { FileEdits, Folder, Media, Move, NewFile, Path, Paths, Search, SortedFolder, Text, TextFile } from './dto.js';
import { editFile } from './edits.js';
import { MAX_BYTES, readBytes, readFirstLines, readLastLines, readText, replaceFile } from './files.js';
import { excluding, formatSize, pathsOf, sizesIn, treeOf } from './folders.js';
import { matchingAny } from './globs.js';
import { mediaBlock } from './media.js';
import type { Sandbox } from './sandbox.js';

const TEXT = { output: Text, text: ({ content }: Text) => content };
const READS = { ...TEXT, annotations: { readOnlyHint: true, openWorldHint: false } };
const WRITES = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

/** Works with the files that a sandbox allows. */
export class FileSystem {
  constructor(private readonly sandbox: Sandbox) {}

  @Tool({ ...READS, name: 'read_file', title: 'Read File (Deprecated)', description: 'Call read_text_file instead.' })
  async readFile(input: TextFile) {
    return await this.readTextFile(input);
  }

  @Tool({
    ...READS,
    name: 'read_text_file',
    title: 'Read Text File',
    description: 'Read a file as UTF-8 text: all of it, or its first lines (head), or its last lines (tail).',
  })
  async readTextFile({ path, head, tail }: TextFile) {
    if (head && tail) throw new ToolError('Pass head or tail, not both.');
    const file = await this.sandbox.resolve(path);
    if (head) return { content: await readFirstLines(file, head) };
    if (tail) return { content: await readLastLines(file, tail) };
    return { content: await readText(file) };
  }

  @Tool({
    name: 'read_media_file',
    title: 'Read Media File',
    description: 'Read a file as base64: as an image or audio if it is one, else as an embedded resource.',
    output: Media,
    annotations: READS.annotations,
  })
  async readMediaFile({ path }: Path) {
    const file = await this.sandbox.resolve(path);
    const content = [mediaBlock(file, await readBytes(file))];
    return { content, structuredContent: { content } };
  }

  @Tool({
    ...READS,
    name: 'read_multiple_files',
    title: 'Read Multiple Files',
    description: 'Read several files as text at once. If one can’t be read, you still get the others.',
  })
  async readMultipleFiles({ paths }: Paths) {
    const texts: string[] = [];
    let length = 0;
    // one after the other, so that the cap on a file limits what is in memory
    for (const path of paths) {
      try {
        texts.push(`${path}:\n${await readText(await this.sandbox.resolve(path))}\n`);
      } catch (error) {
        texts.push(`${path}: Error - ${(error as Error).message}`);
      }
      length += texts.at(-1)?.length ?? 0;
      if (length > MAX_BYTES) {
        throw new ToolError(`These files are too large together. Send fewer than ${texts.length} paths.`);
      }
    }
    return { content: texts.join('\n---\n') };
  }

  @Tool({
    ...TEXT,
    name: 'write_file',
    title: 'Write File',
    description: 'Create a text file, or replace one without asking.',
    annotations: { ...WRITES, idempotentHint: true },
  })
  async writeFile({ path, content }: NewFile) {
    await replaceFile(await this.sandbox.resolve(path), content);
    return { content: `Successfully wrote to ${path}` };
  }

  @Tool({
    ...TEXT,
    name: 'edit_file',
    title: 'Edit File',
    description:
      'Replace texts in a file, and return the diff. If a text isn’t found, its lines are compared without indentation.',
    annotations: WRITES,
  })
  async editFile({ path, edits, dryRun }: FileEdits) {
    return { content: await editFile(await this.sandbox.resolve(path), edits, dryRun) };
  }

  @Tool({
    ...TEXT,
    name: 'create_directory',
    title: 'Create Directory',
    description: 'Create a directory, and those above it that are missing. Succeeds if it exists.',
    annotations: { ...WRITES, destructiveHint: false, idempotentHint: true },
  })
  async createDirectory({ path }: Path) {
    await mkdir(await this.sandbox.resolve(path), { recursive: true });
    return { content: `Successfully created directory ${path}` };
  }

  @Tool({
    ...READS,
    name: 'list_directory',
    title: 'List Directory',
    description: 'List what a directory holds: [DIR] or [FILE], and the name.',
  })
  async listDirectory({ path }: Path) {
    const entries = await readdir(await this.sandbox.resolve(path), { withFileTypes: true });
    return { content: entries.map((entry) => `${entry.isDirectory() ? '[DIR]' : '[FILE]'} ${entry.name}`).join('\n') };
  }

  @Tool({
    ...READS,
    name: 'list_directory_with_sizes',
    title: 'List Directory with Sizes',
    description: 'List what a directory holds, with sizes and their sum. Sorts by name, or largest first.',
  })
  async listDirectoryWithSizes({ path, sortBy }: SortedFolder) {
    const entries = await sizesIn(await this.sandbox.resolve(path));
    entries.sort((a, b) => (sortBy === 'size' ? b.size - a.size : a.name.localeCompare(b.name)));
    const files = entries.filter(({ isDirectory }) => !isDirectory);
    const lines = entries.map(({ name, size, isDirectory }) =>
      isDirectory ? `[DIR] ${name}` : `[FILE] ${name.padEnd(30)} ${formatSize(size).padStart(10)}`,
    );
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const summary = `Total: ${files.length} files, ${entries.length - files.length} directories`;
    return { content: [...lines, '', summary, `Combined size: ${formatSize(total)}`].join('\n') };
  }

  @Tool({
    ...READS,
    name: 'directory_tree',
    title: 'Directory Tree',
    description: 'Read everything below a directory as JSON: a list of name, type (file or directory) and children.',
  })
  async directoryTree({ path, excludePatterns }: Folder) {
    const tree = await treeOf(await this.sandbox.resolve(path), excluding(excludePatterns));
    return { content: JSON.stringify(tree, undefined, 2) };
  }

  @Tool({
    ...TEXT,
    name: 'move_file',
    title: 'Move File',
    description: 'Move or rename a file or directory. Fails if the destination exists.',
    annotations: WRITES,
  })
  async moveFile({ source, destination }: Move) {
    const [from, to] = [await this.sandbox.resolve(source), await this.sandbox.resolve(destination)];
    // rename would replace the destination
    if (await lstat(to).catch(() => false)) throw new ToolError(`${destination} exists already.`);
    await rename(from, to);
    return { content: `Successfully moved ${source} to ${destination}` };
  }

  @Tool({
    ...READS,
    name: 'search_files',
    title: 'Search Files',
    description: 'Find files and directories below a directory by a glob. Returns their full paths.',
  })
  async searchFiles({ path, pattern, excludePatterns }: Search) {
    const root = await this.sandbox.resolve(path);
    const matches = matchingAny([pattern]);
    const paths = pathsOf(await treeOf(root, excluding(excludePatterns))).filter(matches);
    return { content: paths.map((found) => join(root, found)).join('\n') || 'No matches found' };
  }

  @Tool({
    ...READS,
    name: 'get_file_info',
    title: 'Get File Info',
    description: 'Read the size, times, type and permissions of a file or directory.',
  })
  async getFileInfo({ path }: Path) {
    const stats = await stat(await this.sandbox.resolve(path));
    const info = {
      size: stats.size,
      created: stats.birthtime.toISOString(),
      modified: stats.mtime.toISOString(),
      accessed: stats.atime.toISOString(),
      isDirectory: stats.isDirectory(),
      isFile: stats.isFile(),
      permissions: stats.mode.toString(8).slice(-3),
    };
    const lines = Object.entries(info).map((entry) => entry.join(': '));
    return { content: lines.join('\n') };
  }

  @Tool({
    ...READS,
    name: 'list_allowed_directories',
    title: 'List Allowed Directories',
    description: 'List the directories that you may work in. Everything below them is allowed, too.',
  })
  listAllowedDirectories() {
    return { content: `Allowed directories:\n${this.sandbox.directories.join('\n')}` };
  }
}
