import { randomUUID } from 'node:crypto'

/** One of the demo's calls, as the API takes it. */
export interface DemoCall {
  readonly start: object
  readonly end: object | null
}

export interface Node {
  readonly op: string
  readonly inputs: object
  readonly output?: unknown
  readonly exception?: string
  readonly usage?: Readonly<Record<string, object>>
  /** In milliseconds; the children follow one another, and the call ends after them. */
  readonly before?: number
  readonly after?: number
  readonly children?: readonly Node[]
  readonly isRunning?: boolean
}

/** Deterministic, so that screenshots and tests show the same data. */
export const randomFrom = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

const QUESTIONS = [
  'How do I change the billing address of my account?',
  'The export to Parquet stops after 10,000 rows. Is there a limit?',
  'Can I move a project to another team without losing its history?',
  'Why was my card charged twice in October?',
  'Which regions do you store data in?',
  'My webhook receives the same message twice. What should I check?',
  'Is there a way to rotate the signing secret without downtime?',
  'How long do you keep traces on the free plan?',
  'The dashboard shows a cost of zero for our own model.',
  'Please cancel my subscription at the end of the month.',
]

export const ANSWERS = [
  'You can change the billing address under **Settings → Billing**. The next invoice uses the new address.',
  'There is no limit on exported rows. The file is complete once the request ends with status 200; a proxy in between may have closed the connection.',
  'Yes. Move it under **Project settings → Move**. Links to the old place keep working for 30 days.',
  'The second charge was a reservation that your bank released on 3 November. Nothing was captured.',
  'All data is stored in Frankfurt and Dublin. You choose the region when you create the team.',
]

const USERS = ['mira', 'jonas', 'aiko', 'sam', 'lucia']

export const usage = (prompt: number, completion: number) => ({
  requests: 1,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})

const chat = (model: string, question: string, answer: string, random: () => number): Node => {
  const [prompt, completion] = [600 + Math.floor(2400 * random()), 40 + Math.floor(500 * random())]
  return {
    op: 'openai.chat.completions.create',
    inputs: {
      model,
      temperature: 0.2,
      messages: [
        { role: 'system', content: 'You answer questions of customers. Be brief and name the page to open.' },
        { role: 'user', content: question },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'search_docs',
            description: 'Searches the documentation.',
            parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
          },
        },
      ],
    },
    output: {
      id: `chatcmpl-${Math.floor(1e9 * random())}`,
      object: 'chat.completion',
      model,
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: answer } }],
      usage: usage(prompt, completion),
    },
    usage: { [model]: usage(prompt, completion) },
    before: 300 + Math.floor(3000 * random()),
  }
}

const plan = (model: string, question: string, random: () => number): Node => ({
  ...chat(model, question, '', random),
  output: {
    object: 'chat.completion',
    model,
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'search_docs', arguments: JSON.stringify({ query: question.slice(0, 32) }) },
            },
          ],
        },
      },
    ],
  },
})

const search = (question: string, random: () => number): Node => ({
  op: 'search_docs',
  inputs: { query: question.slice(0, 32), limit: 5 },
  output: {
    documents: [1, 2, 3].map((n) => ({
      id: `doc-${n}`,
      score: Number((1 - n / 7).toFixed(3)),
      text: `Section ${n} about ${question.slice(0, 24).toLowerCase()}`,
    })),
  },
  before: 20 + Math.floor(200 * random()),
  children: [
    {
      op: 'embed',
      inputs: { text: question },
      output: { dimensions: 1536 },
      usage: { 'text-embedding-3-small': usage(12 + Math.floor(20 * random()), 0) },
      before: 40 + Math.floor(60 * random()),
    },
  ],
})

const answerOf = (n: number, random: () => number): Node => {
  const question = QUESTIONS[n % QUESTIONS.length]!
  const answer = ANSWERS[n % ANSWERS.length]!
  const model = n % 4 === 3 ? 'claude-3-5-sonnet-20241022' : n % 7 === 5 ? 'our-own-model' : 'gpt-4o-mini'
  const fails = n % 9 === 4
  const failing: Node = {
    op: 'fetch_invoice',
    inputs: { customer: `cus_${1000 + n}`, month: '2026-10' },
    exception:
      'Traceback (most recent call last):\n  File "support/billing.py", line 41, in fetch_invoice\n    response.raise_for_status()\nhttpx.HTTPStatusError: 503 Service Unavailable for https://billing.internal/v1/invoices',
    before: 1200,
  }
  return {
    op: 'answer_question',
    inputs: { question, customer: `cus_${1000 + n}` },
    ...(fails
      ? { exception: 'BillingUnavailable: the invoices of cus_' + String(1000 + n) + ' cannot be read' }
      : { output: answer }),
    before: 5,
    after: 10,
    children: [
      plan(model, question, random),
      search(question, random),
      ...(fails ? [failing] : [chat(model, question, answer, random)]),
    ],
    isRunning: n === 0,
  }
}

const crawl = (random: () => number, pages: number): Node => ({
  op: 'index_documentation',
  inputs: { site: 'https://docs.example.com', pages },
  output: { indexed: pages - 4 },
  children: [
    { op: 'list_pages', inputs: {}, output: { pages }, before: 900 },
    ...Array.from({ length: pages }, (_, n): Node => ({
      op: 'read_page',
      inputs: { url: `https://docs.example.com/page/${n}` },
      ...(n % (pages / 4) === 7
        ? { exception: `TimeoutError: page ${n} did not answer within 10 s` }
        : { output: { characters: 2000 + Math.floor(9000 * random()) } }),
      usage: { 'text-embedding-3-small': usage(400 + Math.floor(900 * random()), 0) },
      before: 20 + Math.floor(200 * random()),
    })),
  ],
})

/** The calls of a tree, each at its time. `at` is in milliseconds since 1970. */
export const callsOf = (
  project: string,
  root: Node,
  at: number,
  user: string,
  thread: string | null,
): readonly DemoCall[] => {
  const calls: DemoCall[] = []
  const trace = randomUUID()
  const add = (node: Node, parent: string | null, from: number): number => {
    const id = randomUUID()
    let to = from + (node.before ?? 0)
    const children: DemoCall[] = []
    const place = calls.length
    for (const child of node.children ?? []) to = add(child, id, to)
    to += node.after ?? 1
    const time = (milliseconds: number) => new Date(milliseconds).toISOString()
    const start = {
      project_id: project,
      id,
      trace_id: trace,
      parent_id: parent,
      op_name: node.op,
      started_at: time(from),
      attributes: { environment: parent === null && user === 'sam' ? 'staging' : 'production', user },
      inputs: node.inputs,
      ...(thread === null ? {} : { thread_id: thread, ...(parent === null ? { turn_id: id } : {}) }),
    }
    const end = {
      project_id: project,
      id,
      ended_at: time(to),
      output: node.output ?? null,
      exception: node.exception ?? null,
      summary: node.usage === undefined ? {} : { usage: node.usage },
    }
    calls.splice(place, 0, { start, end: node.isRunning === true ? null : end }, ...children)
    return to
  }
  add(root, null, at)
  return calls
}

const DAY_MS = 86_400_000

/** Traces of a support assistant over the days before `now`, the newest last, and one with many calls. */
export const demoCalls = (
  project: string,
  now: number,
  { traces = 60, pages = 400, days = 3 } = {},
): readonly DemoCall[] => {
  const random = randomFrom(7)
  const calls: DemoCall[] = [...callsOf(project, crawl(random, pages), now - 5 * 3_600_000, 'sam', null)]
  for (let n = traces - 1; n >= 0; n -= 1) {
    const at = now - Math.floor((days * DAY_MS * n) / traces) - 20_000 - Math.floor(60_000 * random())
    calls.push(...callsOf(project, answerOf(n, random), at, USERS[n % USERS.length]!, `thread-${n % 12}`))
  }
  return calls
}
