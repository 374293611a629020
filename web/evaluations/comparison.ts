import { queryOptions, useQueries, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { keyOfScore, type ScoreField } from './figures.js'
import { pathText } from './row-filter.js'

export type Comparison = Schemas['ComparisonPage']
export type ComparedScore = Comparison['scores'][number]
type ComparedExample = Schemas['ComparedExample']
export type Only = 'regressions' | 'improvements' | 'all'

export interface Question {
  readonly projectId: string
  readonly runs: readonly string[]
  /** The scores of which a lower value is better, as the API names them. */
  readonly lower: readonly string[]
}

/** `scorer` or `scorer.field`, as the API names a score of which a lower value is better. */
export const apiName = ({ scorer, path }: ScoreField): string =>
  path.length === 0 ? scorer : `${scorer}.${pathText(path)}`

const bodyOf = ({ projectId, runs, lower }: Question) => ({
  project_id: projectId,
  evaluation_run_ids: [...runs],
  lower_is_better: [...lower],
})

const keyOf = ({ projectId, runs, lower }: Question) => ['evaluations', 'comparison', projectId, runs, lower]

const figuresOf = (question: Question) =>
  queryOptions({
    queryKey: [...keyOf(question), 'figures'],
    queryFn: async ({ signal }) => {
      const body = { ...bodyOf(question), limit: 0 }
      const { data, response } = await api.POST('/api/pages/comparison', { body, signal })
      return { ...data!, position: response.headers.get('tallytree-position') ?? '' }
    },
    staleTime: Infinity,
  })

/** The figures of a comparison, and the position that its rows are read at. */
export const useComparison = (question: Question) =>
  useQuery({ ...figuresOf(question), placeholderData: (before) => before })

/** Asks for a comparison that is likely to be opened: reading runs for the first time takes seconds. */
export const useComparisonAhead = (question: Question, isLikely: boolean): void => {
  useQuery({ ...figuresOf(question), enabled: isLikely, retry: false, notifyOnChangeProps: [] })
}

export const CHUNK = 100

export interface ShownExample extends ComparedExample {
  /** A line of text. */
  readonly input: string
}

/** Chunks of the rows of a comparison, each with the inputs of its examples. */
export const useExamples = (
  question: Question,
  only: Only,
  position: string,
  chunks: readonly number[],
): ((index: number) => ShownExample | undefined) => {
  const results = useQueries({
    queries: chunks.map((chunk) => ({
      queryKey: [...keyOf(question), only, chunk, position],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        examplesOf(question, only, position, chunk, signal),
      staleTime: Infinity,
    })),
  })
  const loaded = new Map(chunks.map((chunk, at) => [chunk, results[at]?.data]))
  return (index) => loaded.get(Math.floor(index / CHUNK))?.[index % CHUNK]
}

const examplesOf = async (
  question: Question,
  only: Only,
  position: string,
  chunk: number,
  signal: AbortSignal,
): Promise<readonly ShownExample[]> => {
  const headers = { 'Tallytree-As-Of': position }
  const body = { ...bodyOf(question), only, limit: CHUNK, offset: chunk * CHUNK }
  const { rows } = await dataOf(api.POST('/api/pages/comparison', { body, headers, signal }))
  const ids = rows.map((row) => row.runs[0]!.ids[0]!)
  if (ids.length === 0) return []
  const ofTrials = { project_id: question.projectId, ids }
  const { data } = await dataOf(api.POST('/api/pages/evaluation-trials', { body: ofTrials, headers, signal }))
  const inputs = new Map(data.map(({ id, input }) => [id, typeof input === 'string' ? input : '']))
  return rows.map((row, at) => ({ ...row, input: inputs.get(ids[at]!) ?? '' }))
}

/** `A` for the baseline, then `B` and so on. */
export const letterOf = (run: number): string => String.fromCharCode(65 + run)

export const keyOfCompared = (score: ComparedScore): string => keyOfScore(score, score.kind)
