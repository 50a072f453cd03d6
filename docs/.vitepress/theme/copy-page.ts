import { useData, withBase } from 'vitepress';
import { defineComponent, h, ref } from 'vue';

const RESET_MS = 2000;

/** A button that copies the Markdown of a page, and a link to it. Only the built site has these files. */
export const CopyPage = defineComponent(() => {
  const { page } = useData();
  const label = ref('Copy as Markdown');

  async function copy(url: string): Promise<void> {
    try {
      const response = await fetch(url);
      if (!response.ok) throw new Error(response.statusText);
      await navigator.clipboard.writeText(await response.text());
      label.value = 'Copied';
    } catch {
      label.value = 'Not copied: open the Markdown instead';
    }
    setTimeout(() => (label.value = 'Copy as Markdown'), RESET_MS);
  }

  return () => {
    if (import.meta.env.DEV || page.value.relativePath === 'index.md') return null;
    const url = withBase(`/${page.value.filePath}`);
    return h('p', { class: 'copy-page' }, [
      h('button', { type: 'button', 'aria-live': 'polite', onClick: () => copy(url) }, label.value),
      h('a', { href: url, target: '_self' }, 'Markdown'),
    ]);
  };
});
