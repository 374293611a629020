import type { Json, JsonObject } from '../../src/kernel/json/json.js'

/** What `programs/research*.mjs` do, call by call: the truth that every answer about them is held against. */
export interface ResearchCall {
  readonly op: string
  /** The name below, of the call that made it. */
  readonly parent: string | null
  readonly inputs: JsonObject
  readonly output: Json
  readonly exception: string | null
  /** Model by model what it used with all its descendants: requests, prompt, completion and cache-read tokens. */
  readonly inclusive: Readonly<Record<string, Figures>>
}

export type Figures = readonly [requests: number, prompt: number, completion: number, cacheRead?: number]

const notes = [1, 2, 3].map((topic) => `pages on ${topic}, notes on ${topic}`)
const joined = notes.join('; ')

const topics = [1, 2, 3].flatMap((topic): readonly (readonly [string, ResearchCall])[] => {
  const common = { inputs: { topic }, exception: null }
  const embedder = [1, 8 * topic, 0] as const
  const reader = [1, 40 * topic + 16, 9 * topic, 16] as const
  return [
    [
      `research ${topic}`,
      {
        ...common,
        op: 'research',
        parent: 'answer',
        output: notes[topic - 1]!,
        inclusive: { embedder, reader },
      },
    ],
    [
      `search ${topic}`,
      {
        ...common,
        op: 'search',
        parent: `research ${topic}`,
        output: { text: `pages on ${topic}`, model: 'embedder', usage: { prompt_tokens: 8 * topic } },
        inclusive: { embedder },
      },
    ],
    [
      `read ${topic}`,
      {
        ...common,
        op: 'read',
        parent: `research ${topic}`,
        output: {
          text: `notes on ${topic}`,
          model: 'reader',
          usage: { input_tokens: 40 * topic, output_tokens: 9 * topic, cache_read_input_tokens: 16 },
        },
        inclusive: { reader },
      },
    ],
  ]
})

/** By op and, where it is called more than once, topic. */
export const RESEARCH: ReadonlyMap<string, ResearchCall> = new Map<string, ResearchCall>([
  [
    'answer',
    {
      op: 'answer',
      parent: null,
      inputs: { question: 'Why?' },
      output: `${joined}!`,
      exception: null,
      inclusive: {
        planner: [2, 110, 21],
        embedder: [3, 48, 0],
        reader: [3, 240 + 48, 54, 48],
        writer: [2, 80, 55],
      },
    },
  ],
  [
    'plan',
    {
      op: 'plan',
      parent: 'answer',
      inputs: { question: 'Why?' },
      output: {
        text: 'one, two, three',
        model: 'planner',
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      },
      exception: null,
      inclusive: { planner: [1, 100, 20] },
    },
  ],
  ...topics,
  [
    'check',
    {
      op: 'check',
      parent: 'answer',
      inputs: { text: notes[0]! },
      output: null,
      exception: 'not convinced: no',
      inclusive: { planner: [1, 10, 1] },
    },
  ],
  [
    'judge',
    {
      op: 'judge',
      parent: 'check',
      inputs: { text: notes[0]! },
      output: { text: 'no', model: 'planner', usage: { prompt_tokens: 10, completion_tokens: 1 } },
      exception: null,
      inclusive: { planner: [1, 10, 1] },
    },
  ],
  [
    'write',
    {
      op: 'write',
      parent: 'answer',
      inputs: { notes },
      output: {
        text: `${joined}!`,
        model: 'writer',
        usage: { prompt_tokens: 60, completion_tokens: 30, total_tokens: 90 },
      },
      exception: null,
      inclusive: { writer: [2, 80, 55] },
    },
  ],
  [
    'polish',
    {
      op: 'polish',
      parent: 'write',
      inputs: { text: joined },
      output: { text: `${joined}!`, model: 'writer', usage: { prompt_tokens: 20, completion_tokens: 25 } },
      exception: null,
      inclusive: { writer: [1, 20, 25] },
    },
  ],
])
