import { erasedCalls } from '../../projections/erasures/without-figures.js'
import { erasedCallsField } from '../calls/erased-calls.js'
import { message } from '../../application/calls/preview.js'
import { threadFigures } from '../../application/calls/thread-figures.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { usageSums, type UsageSums } from '../../application/calls/usage-sums.js'
import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import type { Operation } from '../../domain/query/expression.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, integerBetween, number, string, wholeNumber } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { NO_FILTER } from '../../projections/calls/filter.js'
import { listRows, type ListRow } from '../../projections/calls/list-rows.js'
import { subtreeCounts } from '../../projections/calls/subtree-counts.js'
import { threads, turnKeys, type Thread } from '../../projections/calls/threads.js'
import { feedbackKinds } from '../../projections/feedback/queries.js'
import { usageFrom } from '../../projections/usage/queries.js'
import { threadJson } from '../calls/threads.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { compressedJson } from './compressed.js'

type ThreadServices = Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>

const MAX_THREADS = 100
const NEWEST = [{ field: 'last_updated', direction: 'desc' }] as const
const ALL_THREADS = { threadIds: [], after: null, before: null, order: NEWEST, matching: null }
const ALL_FIGURES = { include_usage: true, include_costs: true, include_details: true }

/** Found threads with their figures. */
const withFigures = async (
  reader: Parameters<typeof threadFigures>[0],
  usage: ReturnType<typeof usageFrom>,
  found: readonly Thread[],
  of: Pick<Parameters<typeof threadFigures>[3], 'projectId' | 'position' | 'maxTraceCalls'>,
) => {
  const figures = await threadFigures(reader, usage, found, { ...ALL_FIGURES, ...of })
  return found.map((thread) => ({ ...thread, ...figures(thread.thread_id) }))
}

/** The fields of a turn in which a search looks. */
const SEARCHED = ['thread_id', 'inputs', 'output', 'end_user'] as const

const turnContains = (text: string): Operation => ({
  $or: SEARCHED.map((field) => ({
    $contains: { input: { $getField: field }, substr: { $literal: text }, case_insensitive: true },
  })),
})

export const threadsRoute = (services: ThreadServices): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const usage = usageFrom(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/threads',
    summary:
      'The threads of a project with their figures, the one last updated first. With `contains`, only threads with a turn whose ' +
      'inputs, output or user contain the text, or whose id does; case is ignored. Send the position of the first page as ' +
      'Tallytree-As-Of for the next ones.',
    body: closed('ThreadsPageRequest', {
      required: { project_id: projectId },
      optional: {
        contains: withDefault(textUpToCharacters(1000), ''),
        limit: withDefault(integerBetween(1, MAX_THREADS), 50),
        offset: withDefault(wholeNumber, 0),
      },
    }),
    response: open('ThreadsPage', {
      required: { rows: arrayOf(threadJson), has_more: boolean, erased_calls: erasedCallsField },
    }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { contains, limit, offset } = body
      const matching = contains === '' ? null : turnContains(contains)
      return {
        waitFor: () => waitForPrices(reading, request, { list: null }),
        read: async (position) => {
          const of = { projectId: project, position, maxTraceCalls }
          const page = { ...ALL_THREADS, ...of, matching, limit: limit + 1, offset }
          const found = await threads(reader)(page)
          const rows = await withFigures(reader, usage, found.slice(0, limit), of)
          const erased_calls = await erasedCalls(reader, project, position)
          return compressedJson(headers, { rows, has_more: found.length > limit, erased_calls })
        },
      }
    },
  })
}

const MAX_TURNS = 100
/** The text of a message in a turn. */
const MESSAGE_CHARACTERS = 4000
/** Inputs contain all messages of the thread, of which the last one is shown. */
const WHOLE_BYTES = 262_144

const turn = open('ThreadTurn', {
  says:
    '`input` is the last message of the user, `output` the answer, each up to 4,000 characters, or null if the payload is too ' +
    'large to look into. `tokens` and `cost` include all descendants; `unpriced` if `cost` lacks models without a price. `calls` ' +
    'and `errors` count the call with its descendants, and are null where there are too many to count. `feedback` is by emoji, ' +
    'or else by type.',
  required: {
    id: string,
    trace_id: string,
    parent_id: nullable(string),
    op_name: string,
    display_name: nullable(string),
    /** In microseconds since 1970. */
    started_us: int64,
    duration_us: nullable(int64),
    status: string,
    exception: nullable(string),
    user: nullable(string),
    input: nullable(string),
    output: nullable(string),
    models: arrayOf(string),
    tokens: int64,
    cost: number,
    unpriced: boolean,
    calls: nullable(int64),
    errors: nullable(int64),
    feedback: recordOf(int64),
  },
})

export const threadRoute = (services: ThreadServices): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const usage = usageFrom(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/thread',
    summary: 'A thread with its figures, and a page of its turns in the order of their starts.',
    body: closed('ThreadPageRequest', {
      required: { project_id: projectId, thread_id: string },
      optional: { limit: withDefault(integerBetween(1, MAX_TURNS), 50), offset: withDefault(wholeNumber, 0) },
    }),
    errors: ['not-found'],
    response: open('ThreadPage', {
      required: { thread: threadJson, turns: arrayOf(turn), has_more: boolean },
    }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { thread_id: threadId, limit, offset } = body
      return {
        waitFor: () => waitForPrices(reading, request, { list: null }),
        read: async (position) => {
          const of = { projectId: project, position, maxTraceCalls }
          const found = await threads(reader)({
            ...ALL_THREADS,
            ...of,
            threadIds: [threadId],
            limit: 1,
            offset: 0,
          })
          const [thread] = await withFigures(reader, usage, found, of)
          if (thread === undefined) throw new Failure('not-found', 'Thread not found.')
          const keys = await turnKeys(reader, { ...of, threadId }, { limit: limit + 1, offset })
          const shown = keys.slice(0, limit)
          const ids = shown.map(({ id }) => id)
          const [rows, answer, feedback] = await Promise.all([
            listRows(reader, project, shown, position, WHOLE_BYTES),
            usage(reader, {
              ...{ ...of, limit: ids.length, operation: null },
              ...{ filter: { ...NO_FILTER, call_ids: ids }, costs: { list: null } },
            }).catch(refuseTooLarge),
            feedbackKinds(reader, project, ids, position),
          ])
          const counts = await subtreeCounts(reader, project, rows, position)
          const sums = new Map(answer.calls.map((call) => [call.id, usageSums(call)]))
          const turns = rows.map((row) => ({
            ...turnOf(row, sums.get(row.id)),
            ...(counts.get(row.id) ?? UNCOUNTED),
            feedback: feedback.get(row.id) ?? {},
          }))
          return compressedJson(headers, { thread, turns, has_more: keys.length > limit })
        },
      }
    },
  })
}

const UNCOUNTED = { calls: null, errors: null }
const NO_USAGE: UsageSums = { models: [], tokens: 0, cost: 0, unpriced: false }

const turnOf = (
  { ended_us, inputs, output, attributes: _, summary: __, thread: ___, ...row }: ListRow,
  usage = NO_USAGE,
) => ({
  ...row,
  duration_us: ended_us === null ? null : ended_us - row.started_us,
  input: message(inputs, 'input', MESSAGE_CHARACTERS),
  output: message(output, 'output', MESSAGE_CHARACTERS),
  ...usage,
})
