import { runList } from '../../application/evaluations/run-list.js'
import type { Services } from '../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import {
  boolean,
  int64,
  integerBetween,
  number,
  oneOf,
  string,
  wholeNumber,
} from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { id, projectId } from '../../kernel/ids.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { refText, requireFew } from '../evaluations/codecs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { compressedJson } from './compressed.js'

const MAX_ROWS = 100

const evaluationRow = open('EvaluationListRow', {
  says:
    '`tokens` and `cost` include all descendants, also scorers that ask models; null where the trace is too large to add ' +
    'up; `cost` lacks models without a price if `unpriced`. `means` are those of the summary that the run ended with, a ' +
    'fraction for booleans; `left_out_count` counts means beyond the first 30.',
  required: {
    id: string,
    trace_id: string,
    display_name: nullable(string),
    evaluation: string,
    evaluation_name: string,
    model: string,
    model_name: string,
    dataset: nullable(string),
    dataset_name: nullable(string),
    status: oneOf('running', 'completed', 'failed'),
    exception: nullable(string),
    /** In microseconds since 1970. */
    started_us: int64,
    duration_us: nullable(int64),
    rows: int64,
    tokens: nullable(int64),
    cost: nullable(number),
    unpriced: boolean,
    /** The mean in seconds. */
    latency: nullable(number),
    means: arrayOf(
      open('EvaluationListMean', {
        required: { scorer: string, path: arrayOf(string), kind: oneOf('number', 'boolean'), value: number },
      }),
    ),
    left_out_count: int64,
  },
})

/** `POST /api/pages/evaluations`: the evaluation runs of a project as people read them. */
export const evaluationsRoute = (
  services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>,
): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const usage = usageFrom(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/evaluations',
    summary:
      'Evaluation runs, newest first, with the names behind their references, rows, means, cost and latency. Send the ' +
      'position of the first page as Tallytree-As-Of for the next ones.',
    body: closed('EvaluationListRequest', {
      required: { project_id: projectId },
      optional: {
        q: withDefault(textUpToCharacters(200), ''),
        evaluation: nullable(refText),
        evaluation_run_ids: nullable(arrayOf(id)),
        limit: withDefault(integerBetween(1, MAX_ROWS), 50),
        offset: withDefault(wholeNumber, 0),
      },
    }),
    response: open('EvaluationList', { required: { rows: arrayOf(evaluationRow), has_more: boolean } }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { q, evaluation, evaluation_run_ids: ids, limit, offset } = body
      requireFew(ids ?? [], ['body', 'evaluation_run_ids'])
      return {
        waitFor: () => waitForPrices(reading, request, { list: null }),
        read: async (position) => {
          const query = { projectId: project, position, contains: q, evaluation, ids, limit, offset }
          return compressedJson(headers, await runList(reader, { usage, maxTraceCalls }, query))
        },
      }
    },
  })
}
