import { rowCostsFrom } from '../../application/evaluations/read-rows.js'
import {
  rowsOfRun,
  scoresOfRun,
  trialLine,
  trialsOf,
  trialText,
} from '../../application/evaluations/trials.js'
import { sourcesFrom } from '../../application/calls/ref-sources.js'
import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import { distributionOf } from '../../domain/evaluations/distribution.js'
import type { FieldScores } from '../../domain/evaluations/run-scores.js'
import { percentileOf } from '../../domain/evaluations/statistics.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import {
  boolean,
  int64,
  integerBetween,
  json,
  number,
  oneOf,
  string,
  wholeNumber,
} from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { ordersIn, rowSelection, selectionIn } from '../evaluations/results.js'
import { inBody } from '../server/authorization.js'
import { positionsAsOf } from '../server/read-conditions.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { compressedJson, compressedText } from './compressed.js'

type RowServices = Pick<Services, 'sha256' | 'access' | 'reading'>

const scoreField = open('RunScoreField', {
  says:
    'A field of the scores of a run. `mean` is that of its numbers, `true_fraction` of all rows. `distribution` has how many ' +
    'numbers are in each of equal parts of their range; `categories` how many rows have each short text.',
  required: {
    scorer: string,
    path: arrayOf(string),
    kind: nullable(oneOf('number', 'boolean', 'text')),
    count: int64,
    none_count: int64,
    other_count: int64,
    mean: nullable(number),
    p50: nullable(number),
    true_count: int64,
    true_fraction: nullable(number),
    distribution: nullable(
      open('ScoreDistribution', { required: { from: number, to: number, counts: arrayOf(int64) } }),
    ),
    categories: recordOf(int64),
  },
})

/** `POST /api/pages/evaluation-scores`: the figures of the scores of a run. */
export const runScoresRoute = (services: RowServices): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/api/pages/evaluation-scores',
    summary:
      'The figures and the distribution of each field of the scores of an evaluation run, from its rows.',
    body: closed('RunScoresRequest', { required: { project_id: projectId, evaluation_run_id: id } }),
    errors: ['not-found'],
    response: open('RunScores', { required: { rows: int64, failed: int64, fields: arrayOf(scoreField) } }),
    project: inBody,
    handle:
      ({ body: { evaluation_run_id }, headers, project, reader }) =>
      async (position) => {
        const read = { reader, projectId: project, position, sha256: services.sha256 }
        const { rows, failed, fields } = await scoresOfRun(read, evaluation_run_id)
        return compressedJson(headers, { rows, failed, fields: fields.map(fieldJson) })
      },
  })

const fieldJson = ({ numbers, categories, booleanCount: _, ...field }: FieldScores) => ({
  scorer: field.scorer,
  path: field.path,
  kind: field.kind,
  count: field.count,
  none_count: field.noneCount,
  other_count: field.otherCount,
  mean: field.mean,
  p50: numbers.length === 0 ? null : percentileOf(numbers, 0.5),
  true_count: field.trueCount,
  true_fraction: field.trueFraction,
  distribution: distributionOf(numbers),
  categories: Object.fromEntries(categories),
})

const MAX_LINES = 200
const MAX_WHOLE = 40

const trial = open('EvaluationTrialRow', {
  says:
    'One row of a run. `input` is its example without the expected output; null for `expected` where the example has no ' +
    'member with a usual name. With `whole`, `input`, `expected` and `output` are the values, else a line of text of each.',
  required: {
    id: string,
    row_digest: string,
    input: json,
    expected: json,
    output: json,
    scores: recordOf(json),
    score_call_ids: recordOf(string),
    exception: nullable(string),
    is_finished: boolean,
    latency: nullable(number),
    tokens: nullable(int64),
    cost: nullable(number),
  },
})

/** `POST /api/pages/evaluation-trials`: rows of evaluation runs by id. */
export const trialsRoute = (services: RowServices): AnyRoute => {
  const costsOf = rowCostsFrom(services.reading)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/evaluation-trials',
    summary:
      `Rows of evaluation runs by the ids of their calls, with their examples: at most ${MAX_LINES}, or ${MAX_WHOLE} with ` +
      'whole payloads.',
    body: closed('EvaluationTrialsRequest', {
      required: { project_id: projectId, ids: arrayOf(id, 1) },
      optional: { whole: withDefault(boolean, false) },
    }),
    errors: ['bad-request'],
    response: open('EvaluationTrialRows', { required: { data: arrayOf(trial) } }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { ids, whole } = body
      const most = whole ? MAX_WHOLE : MAX_LINES
      if (ids.length > most)
        throw new Failure('bad-request', `At most ${most} rows can be asked for at once.`)
      return {
        waitFor: () => waitForPrices(services.reading, request, { list: null }),
        read: async (position) => {
          const { costOf } = await costsOf(reader, project, position)
          const sources = sourcesFrom(reader, positionsAsOf(services, request))
          const { sha256 } = services
          const read = { reader, projectId: project, position, sha256, sources, costOf }
          const trials = await trialsOf(read, ids)
          return compressedText(headers, `{"data":[${trials.map(whole ? trialText : trialLine).join(',')}]}`)
        },
      }
    },
  })
}

/** `POST /api/pages/evaluation-rows`: the rows of a run, a line of text of each payload. */
export const runRowsRoute = (services: RowServices): AnyRoute => {
  const costsOf = rowCostsFrom(services.reading)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/evaluation-rows',
    summary:
      'The rows of an evaluation run that meet filters, the first trial of each example. Send the position of the first ' +
      'page as Tallytree-As-Of for the next ones.',
    body: closed('RunRowsRequest', {
      required: { project_id: projectId, evaluation_run_id: id },
      optional: {
        ...rowSelection,
        limit: withDefault(integerBetween(1, MAX_LINES), 50),
        offset: withDefault(wholeNumber, 0),
      },
    }),
    errors: ['not-found'],
    response: open('RunRows', {
      required: {
        data: arrayOf(trial),
        /** The calls of the trials of each row. */
        trial_ids: arrayOf(arrayOf(string)),
        total: int64,
      },
    }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { evaluation_run_id: runId, limit, offset } = body
      const orders = ordersIn(body, [runId])
      const selection = selectionIn(body, [runId])
      return {
        waitFor: () => waitForPrices(services.reading, request, { list: null }),
        read: async (position) => {
          const { costOf } = await costsOf(reader, project, position)
          const sources = sourcesFrom(reader, positionsAsOf(services, request))
          const read = { reader, projectId: project, position, sha256: services.sha256, sources, costOf }
          const rows = await rowsOfRun(read, runId, orders, selection)
          const trial_ids = rows.slice(offset, offset + limit)
          const trials = await trialsOf(
            read,
            trial_ids.map(([first]) => first!),
          )
          const rest = JSON.stringify({ trial_ids, total: rows.length })
          return compressedText(headers, `{"data":[${trials.map(trialLine).join(',')}],${rest.slice(1)}`)
        },
      }
    },
  })
}
