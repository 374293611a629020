import { randomUUID } from 'node:crypto'
import type { DemoCall } from './records.js'

/** Sends a request with a JSON body and gives the answer. */
export type Send = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Readonly<Record<string, unknown>>>

const ROWS = 200
const CATEGORIES = ['billing', 'exports', 'webhooks', 'accounts', 'regions']

const questionOf = (n: number) =>
  `Question ${n + 1} about ${CATEGORIES[n % CATEGORIES.length]!}: what should I do?`
const answerOf = (n: number) =>
  `Open Settings and choose ${CATEGORIES[n % CATEGORIES.length]!}, step ${(n % 4) + 1}.`

/** What a model answers, and how it is scored. The new prompt is better at most rows and worse at those about exports. */
const answered = (n: number, isNew: boolean) => {
  const isRight = isNew ? n % 5 !== 1 && n % 13 !== 0 : n % 3 !== 0
  const output = isRight
    ? answerOf(n)
    : isNew
      ? 'Please ask the support team.'
      : `Choose ${CATEGORIES[n % 5]!}.`
  const helpfulness = Math.round(100 * ((isRight ? 0.75 : 0.3) + 0.2 * Math.sin(n) * Math.sin(n))) / 100
  return { output, scores: { exact: isRight, helpfulness, is_short: output.length < 48 } }
}

/** Records an evaluation run as the SDKs do. */
const runOf = (
  project: string,
  {
    evaluation,
    model,
    llm,
    at,
    isNew,
  }: Record<'evaluation' | 'model' | 'llm', string> & { at: number; isNew: boolean },
): readonly DemoCall[] => {
  const run = randomUUID()
  const of = { project_id: project, trace_id: run, attributes: {} }
  const time = (ms: number) => new Date(at + ms).toISOString()
  const op = (name: string) => `weave:///${project}/op/${name}:1`
  const calls: DemoCall[] = []
  const values: ReturnType<typeof answered>['scores'][] = []
  let latency = 0
  for (let n = 0; n < ROWS; n += 1) {
    const { output, scores } = answered(n, isNew)
    const example = { id: n, question: questionOf(n), expected: answerOf(n) }
    const [row, prediction] = [randomUUID(), randomUUID()]
    const took = 400 + ((n * 37) % 700) + (isNew ? 120 : 0)
    const usage = { prompt_tokens: 700 + ((n * 13) % 300), completion_tokens: 40 + (n % 60), requests: 1 }
    values.push(scores)
    latency += took / 1000
    calls.push(
      {
        start: {
          ...of,
          id: row,
          parent_id: run,
          op_name: op('Evaluation.predict_and_score'),
          started_at: time(n * 300),
          inputs: { self: evaluation, model, example },
        },
        end: {
          project_id: project,
          id: row,
          ended_at: time(n * 300 + took + 5),
          output: { output, scores, model_latency: took / 1000 },
          summary: {},
        },
      },
      {
        start: {
          ...of,
          id: prediction,
          parent_id: row,
          op_name: op('Model.predict'),
          started_at: time(n * 300),
          inputs: { self: model, example },
        },
        end: {
          project_id: project,
          id: prediction,
          ended_at: time(n * 300 + took),
          output,
          summary: { usage: { [llm]: usage } },
        },
      },
    )
  }
  const mean = (of: (one: (typeof values)[number]) => number) =>
    values.reduce((sum, one) => sum + of(one), 0) / ROWS
  const count = (of: (one: (typeof values)[number]) => boolean) => {
    const true_count = values.filter(of).length
    return { true_count, true_fraction: true_count / ROWS }
  }
  const root = {
    start: {
      ...of,
      id: run,
      parent_id: null,
      op_name: op('Evaluation.evaluate'),
      display_name: isNew ? 'answers with the new prompt' : 'answers with the old prompt',
      started_at: time(0),
      inputs: { self: evaluation, model },
    },
    end: {
      project_id: project,
      id: run,
      ended_at: time(ROWS * 300 + 2000),
      output: {
        exact: count(({ exact }) => exact),
        helpfulness: { mean: mean(({ helpfulness }) => helpfulness) },
        is_short: count(({ is_short }) => is_short),
        model_latency: { mean: latency / ROWS },
      },
      summary: {},
    },
  }
  return [root, ...calls]
}

/** Two runs of an evaluation of 200 rows: the newer one is better in the mean, and worse at one kind of question. */
export const demoEvaluations = async (
  project: string,
  now: number,
  send: Send,
): Promise<readonly DemoCall[]> => {
  const publish = async (object_id: string, val: object) => {
    const { digest } = await send('POST', '/obj/create', { obj: { project_id: project, object_id, val } })
    return `weave:///${project}/object/${object_id}:${String(digest)}`
  }
  const rows = Array.from({ length: ROWS }, (_, id) => ({
    id,
    question: questionOf(id),
    expected: answerOf(id),
  }))
  const { digest } = await send('POST', '/table/create', { table: { project_id: project, rows } })
  const dataset = await publish('customer-questions', {
    _type: 'Dataset',
    _class_name: 'Dataset',
    _bases: ['Object', 'BaseModel'],
    name: 'customer-questions',
    rows: `weave:///${project}/table/${String(digest)}`,
  })
  const evaluation = await publish('support-answers', {
    _type: 'Evaluation',
    _class_name: 'Evaluation',
    _bases: ['Object', 'BaseModel'],
    name: 'support-answers',
    dataset,
    scorers: [],
  })
  const model = (version: string) =>
    publish('support-assistant', {
      _type: 'Model',
      _class_name: 'Model',
      _bases: ['Object', 'BaseModel'],
      name: 'support-assistant',
      prompt: version,
    })
  const [before, after] = [
    await model('Answer briefly.'),
    await model('Answer briefly and name the page to open.'),
  ]
  return [
    ...runOf(project, {
      evaluation,
      model: before,
      llm: 'gpt-4o-mini',
      at: now - 50 * 3_600_000,
      isNew: false,
    }),
    ...runOf(project, { evaluation, model: after, llm: 'gpt-4o-mini', at: now - 2 * 3_600_000, isNew: true }),
  ]
}
