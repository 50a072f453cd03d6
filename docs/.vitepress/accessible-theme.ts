/**
 * Corrects the markup of VitePress's theme where it has one control in another, or names that screen readers can't match
 * with what is seen. `npm run docs -- --check` finds what is left.
 */
const CORRECTIONS: Readonly<Record<string, readonly (readonly [wrong: string, right: string])[]>> = {
  'VPLocalSearchBox.vue': [
    ['role="button"\n', 'role="dialog"\n'],
    [':aria-owns="results?.length ? \'localsearch-list\' : undefined"\n', 'aria-modal="true"\n'],
    ['aria-expanded="true"\n', ''],
    ['aria-haspopup="listbox"\n', ''],
    [':role="results?.length ? \'listbox\' : undefined"', ''],
    [":aria-selected=\"selectedIndex === index ? 'true' : 'false'\"", ''],
    ['role="option"', ''],
    ['<kbd :aria-label', '<kbd role="img" :aria-label'],
    [':aria-label="[...p.titles, p.title].join(\' > \')"', ''],
    [
      `<span aria-hidden="true" class="vpi-search search-icon local-search-icon" />`,
      `<span aria-hidden="true" class="vpi-search search-icon local-search-icon" /><span class="visually-hidden">{{ buttonText }}</span>`,
    ],
  ],
  'VPNavBarSearchButton.vue': [['<span class="DocSearch-Button-Keys">', '<span v-if="false">']],
  'VPSidebarItem.vue': [
    [
      ':tabindex="item.items && 0"',
      ':tabindex="item.items && 0" :aria-expanded="itemRole && item.items ? !collapsed : undefined"',
    ],
    ['role="button"\n        aria-label="toggle section"', 'aria-hidden="true"'],
    ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
  ],
};

/** A plugin for Vite. It fails where a version of the theme has another markup. */
export const accessibleTheme = {
  name: 'decorum-accessible-theme',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    const corrections = CORRECTIONS[id.split('/').at(-1) ?? ''];
    return corrections?.reduce((text, [wrong, right]) => {
      if (!text.includes(wrong)) throw new Error(`${id} has no ${wrong}. Look whether it still needs corrections.`);
      return text.replaceAll(wrong, right);
    }, code);
  },
};
