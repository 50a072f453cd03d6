import { useData } from 'vitepress';
import { defineComponent, h } from 'vue';

/** The version that the pages describe, beside the name in the bar at the top. */
export const Version = defineComponent(() => {
  const { theme } = useData<{ version: string }>();
  return () => h('span', { class: 'version' }, theme.value.version);
});
