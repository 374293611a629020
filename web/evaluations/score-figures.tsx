import { useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { plural, significantNumber, wholeNumber } from '../kit/format.js'
import { Table, type Column } from '../kit/table.js'
import { figureText, scoreName, type Run } from './figures.js'

type Field = Schemas['RunScoreField']

export const useRunScores = (projectId: string, run: Pick<Run, 'id' | 'status'>) =>
  useQuery({
    queryKey: ['evaluations', 'scores', projectId, run.id, run.status],
    queryFn: ({ signal }) => {
      const body = { project_id: projectId, evaluation_run_id: run.id }
      return dataOf(api.POST('/api/pages/evaluation-scores', { body, signal }))
    },
    refetchInterval: run.status === 'running' ? 5000 : false,
    placeholderData: (before) => before,
  })

const columns: readonly Column<Field>[] = [
  { label: 'Score', cell: (field) => <span title={scoreName(field)}>{scoreName(field)}</span> },
  {
    label: 'Mean, or share that passed',
    width: 224,
    isNumber: true,
    cell: ({ kind, mean, true_fraction }) =>
      kind === 'number' && mean !== null ? (
        <span title={String(mean)}>{figureText('number', mean)}</span>
      ) : kind === 'boolean' && true_fraction !== null ? (
        <span title={String(true_fraction)}>{figureText('boolean', true_fraction)}</span>
      ) : (
        '—'
      ),
  },
  { label: 'Distribution', width: 320, cell: (field) => <Distribution field={field} /> },
  { label: 'With a value', width: 110, isNumber: true, cell: ({ count }) => wholeNumber(count) },
  { label: 'Without', width: 90, isNumber: true, cell: ({ none_count }) => wholeNumber(none_count) },
  {
    label: 'Of another type',
    width: 136,
    isNumber: true,
    cell: ({ other_count }) => wholeNumber(other_count),
  },
]

/** The figures of each field of the scores of a run, over all of its rows. */
export const ScoreFigures = ({
  run,
  scores,
}: {
  readonly run: Run
  readonly scores: Schemas['RunScores']
}) => {
  const { fields, rows, failed } = scores
  return (
    <section aria-label="Scores">
      <h2>
        Scores{' '}
        <span className="secondary">
          of {plural(rows, 'row')}
          {failed > 0 && `, ${wholeNumber(failed)} failed`}
        </span>
      </h2>
      {fields.length === 0 ? (
        <div className="secondary">No row has a score{run.status === 'running' ? ' yet' : ''}.</div>
      ) : (
        <Table label="Scores" columns={columns} rows={fields} keyOf={scoreName} />
      )}
    </section>
  )
}

const Distribution = ({ field }: { readonly field: Field }) => {
  const { kind, distribution, true_count, count, categories } = field
  if (kind === 'number' && distribution !== null) return <Histogram distribution={distribution} />
  if (kind === 'boolean')
    return (
      <span
        className="passed-bar"
        role="img"
        aria-label={`${true_count} passed, ${count - true_count} failed`}
      >
        <i data-tone="ok" style={{ flexGrow: true_count }} />
        <i data-tone="danger" style={{ flexGrow: count - true_count }} />
      </span>
    )
  const texts = Object.entries(categories).sort(([, a], [, b]) => b - a)
  if (texts.length === 0) return <span className="secondary">free text</span>
  const text = texts.map(([name, rows]) => `${name} × ${wholeNumber(rows)}`).join(' · ')
  return <span title={text}>{text}</span>
}

const WIDTH = 300
const HEIGHT = 24

const Histogram = ({
  distribution: { from, to, counts },
}: {
  readonly distribution: Schemas['ScoreDistribution']
}) => {
  const most = Math.max(...counts)
  const width = WIDTH / counts.length
  const startOf = (part: number) => significantNumber(from + ((to - from) * part) / counts.length)
  const text = `From ${significantNumber(from)} to ${significantNumber(to)}`
  return (
    <svg
      className="distribution"
      role="img"
      aria-label={text}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      <title>{text}</title>
      {counts.map((count, part) => (
        <rect
          key={part}
          x={part * width}
          y={HEIGHT - (HEIGHT * count) / most}
          width={Math.max(1, width - 1)}
          height={(HEIGHT * count) / most}
        >
          <title>{`${startOf(part)} to ${startOf(part + 1)}: ${plural(count, 'row')}`}</title>
        </rect>
      ))}
    </svg>
  )
}
