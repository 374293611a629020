export const PROJECT = 'bench/objects'
export const OBJECTS = 1000

export const objectName = (i: number): string => `object-${i}`

const text = 'The quick brown fox jumps over the lazy dog, again and again, until the log is full. '

/** About 1 KB of JSON. */
export const objectValue = (i: number) => ({
  _type: 'Prompt',
  _class_name: 'Prompt',
  number: i,
  content: text.repeat(11),
})

/** As the service answers it, but for the digest and the time. */
export const answerLike = (i: number): string =>
  JSON.stringify({
    obj: {
      project_id: PROJECT,
      object_id: objectName(i),
      created_at: '2026-01-01T00:00:00.000000Z',
      deleted_at: null,
      digest: 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
      version_index: 0,
      is_latest: 1,
      kind: 'object',
      base_object_class: 'Prompt',
      leaf_object_class: 'Prompt',
      wb_user_id: 'admin',
      val: objectValue(i),
    },
  })
