import { h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';

import { CopyPage } from './copy-page.js';
import './style.css';
import { Version } from './version.js';

/** The theme of VitePress with the fonts of the reader's system, the version, and a button that copies the page. */
const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, { 'nav-bar-title-after': () => h(Version), 'doc-before': () => h(CopyPage) }),
};

export default theme;
