import { audio, embedded, image, text, Tool, ToolError } from '@decorum/core';

import { DOT_PNG, SILENCE_WAV } from './media.js';

/** One tool for each kind of content. */
export class Contents {
  @Tool({ name: 'test_simple_text', description: 'Returns one text' })
  simpleText() {
    return 'This is a simple text response for testing.';
  }

  @Tool({ name: 'test_image_content', description: 'Returns one image' })
  imageContent() {
    return image(DOT_PNG, 'image/png');
  }

  @Tool({ name: 'test_audio_content', description: 'Returns one audio clip' })
  audioContent() {
    return audio(SILENCE_WAV, 'audio/wav');
  }

  @Tool({ name: 'test_embedded_resource', description: 'Returns an embedded resource' })
  embeddedResource() {
    return embedded({ uri: 'test://embedded-resource', data: 'This is an embedded resource content.' });
  }

  @Tool({ name: 'test_multiple_content_types', description: 'Returns text, an image and a resource' })
  multipleContentTypes() {
    return [
      text('Multiple content types test:'),
      image(DOT_PNG, 'image/png'),
      embedded({
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        data: JSON.stringify({ test: 'data', value: 123 }),
      }),
    ];
  }

  @Tool({ name: 'test_error_handling', description: 'Always fails' })
  errorHandling() {
    throw new ToolError('This tool intentionally returns an error for testing');
  }
}
