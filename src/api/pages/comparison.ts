import type { comparisonsFrom } from '../../application/evaluations/compared-runs.js'
import type { Services } from '../../application/services.js'
import type { ComparedScore } from '../../domain/evaluations/comparison.js'
import { cellOf, type FoldedRow } from '../../domain/evaluations/folded-rows.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { int64, integerBetween, number, oneOf, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { waitForPrices } from '../calls/requested-costs.js'
import {
  comparedFigures,
  comparedRunIds,
  comparedRuns,
  directionsOf,
  figuresJson,
} from '../evaluations/compare.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { compressedJson } from './compressed.js'

const MAX_ROWS = 500

const comparedExample = open('ComparedExample', {
  says:
    'One example. `regression` and `improvement` are the largest of its trials, as shares of the range of a score. `runs` ' +
    'has the calls of its trials in each run, and the mean of their values by the place in `scores`.',
  required: {
    row_digest: string,
    trials: int64,
    regression: number,
    improvement: number,
    runs: arrayOf(
      nullable(
        open('ComparedCell', { required: { ids: arrayOf(string), values: arrayOf(nullable(number)) } }),
      ),
    ),
  },
})

/** `POST /api/pages/comparison`: the figures of `/evaluations/compare` with its rows by example. */
export const comparisonPageRoute = (
  services: Pick<Services, 'access' | 'reading'>,
  comparisons: ReturnType<typeof comparisonsFrom>,
): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/api/pages/comparison',
    summary:
      'Compare 2 to 8 evaluation runs with the first of them, with the trials of each example as one row: the largest ' +
      'regression first, or of `improvements`, the largest improvement. Send the position of the first page as ' +
      'Tallytree-As-Of for the next ones.',
    body: closed('ComparisonPageRequest', {
      required: comparedRuns.required,
      optional: {
        ...comparedRuns.optional,
        only: withDefault(oneOf('all', 'regressions', 'improvements'), 'all' as const),
        limit: withDefault(integerBetween(0, MAX_ROWS), 200),
        offset: withDefault(wholeNumber, 0),
      },
    }),
    response: open('ComparisonPage', {
      required: {
        ...comparedFigures,
        counts: open('ComparedCounts', { required: { all: int64, regressions: int64, improvements: int64 } }),
        rows: arrayOf(comparedExample),
      },
    }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project: projectId, reader } = request
      const { only, offset, limit, lower_is_better } = body
      const runIds = comparedRunIds(body)
      return {
        waitFor: () => waitForPrices(services.reading, request, { list: null }),
        read: async (position) => {
          const query = { projectId, runIds, position }
          const { found, runs, scores, folded } = await comparisons(
            reader,
            query,
            ...directionsOf(lower_is_better),
          )
          const chosen = {
            all: folded,
            regressions: folded.filter(({ regression }) => regression > 0),
            improvements: folded
              .filter(({ improvement }) => improvement > 0)
              .sort((a, b) => b.improvement - a.improvement),
          }
          return compressedJson(headers, {
            ...figuresJson(found, runs, scores),
            counts: {
              all: folded.length,
              regressions: chosen.regressions.length,
              improvements: chosen.improvements.length,
            },
            rows: chosen[only].slice(offset, offset + limit).map((row) => exampleJson(row, runIds, scores)),
          })
        },
      }
    },
  })

const exampleJson = (row: FoldedRow, runIds: readonly string[], scores: readonly ComparedScore[]) => ({
  row_digest: row.trials[0]!.exampleDigest,
  trials: row.trials.length,
  regression: row.regression,
  improvement: row.improvement,
  runs: runIds.map((_, run) => cellOf(row, run, scores)),
})
