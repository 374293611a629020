/** Ids that look alike, break careless code or reach the limit of 256 bytes. */
export const TRICKY_IDS: ReadonlyArray<string> = [
  'a',
  'a ',
  'A',
  ' a',
  'á',
  'a\u0301',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '0',
  '00',
  'null',
  '0199b3c4-7d1e-7000-8000-00000000000a',
  '0199B3C4-7D1E-7000-8000-00000000000A',
  '\u{1f600}',
  '\uffee',
  'lone\ud800',
  'x'.repeat(256),
  '€'.repeat(85),
  'team/project',
  'a%20',
  "'; --",
  '"\\',
  'a:*',
  '\u00a0',
]

export const MODELS: ReadonlyArray<string> = [
  'gpt-4',
  'gpt-3',
  '',
  '__proto__',
  'constructor',
  'modèle-π \u{1f600}',
  'lone\udc00',
]

export const OPS: ReadonlyArray<string> = [
  'op',
  'a_b',
  'weave:///team/project/op/op:v1',
  'weave:///team/project/op/a_b:v1',
  'weave:///team/project/op/a_b:v2',
  'weave:///team/project/op/aXb:v1',
]

export const REFS: ReadonlyArray<string> = [
  'weave:///team/project/object/o:v1',
  'weave:///team/project/object/o:v2',
]

/** Unlike any id of a call in a case. */
export const NOBODY = 'nobody'

/** What the list holds at an index beyond its end, too. */
export const around = <T>(list: ReadonlyArray<T>, index: number): T => list[index % list.length]!
