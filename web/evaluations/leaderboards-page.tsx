import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { useIdInPath, usePlace } from '../kit/place.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'
import { useTitle } from '../kit/title.js'
import { nameIn } from './figures.js'
import { ScoreBar } from './score-bar.js'

const MAX_LEADERBOARDS = 200

/** The leaderboards of a project, objects that the `weave` packages publish. */
export const LeaderboardsPage = () => {
  useTitle('Leaderboards')
  const { team, project, projectId } = usePlace()
  const list = useQuery({
    queryKey: ['leaderboards', projectId],
    queryFn: ({ signal }) => {
      const filter = { leaf_object_classes: ['Leaderboard'], latest_only: true }
      const body = { project_id: projectId, filter, metadata_only: true, limit: MAX_LEADERBOARDS }
      return dataOf(api.POST('/objs/query', { body, signal }))
    },
  })
  const rows = list.data?.objs ?? []
  return (
    <div className="page">
      <div className="bar">
        <h1>Leaderboards</h1>
        <span className="spacer" />
        <Link to="/$team/$project/evaluations" params={{ team, project }}>
          Evaluations
        </Link>
      </div>
      {list.isError && (
        <Failed error={list.error} what="The leaderboards" onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading what="leaderboards" />}
      {list.isSuccess && rows.length === 0 && (
        <Empty title={`No leaderboards in ${projectId} yet`}>
          A leaderboard shows the newest run of each model in chosen evaluations. Publish one with the weave
          package: <code>weave.publish(leaderboard.Leaderboard(name=…, columns=[…]))</code>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label="Leaderboards"
          columns={[
            {
              label: 'Name',
              cell: ({ object_id }) => (
                <Link
                  className="strong"
                  to="/$team/$project/evaluations/leaderboards/$name"
                  params={{ team, project, name: object_id }}
                >
                  {object_id}
                </Link>
              ),
            },
            { label: 'Changed', width: 150, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
          rows={rows}
          keyOf={({ object_id }) => object_id}
        />
      )}
    </div>
  )
}

type Board = Schemas['Leaderboard']
type Model = Board['models'][number]

/** A leaderboard: the newest run of each model, one column a metric, the best value of each marked. */
export const LeaderboardPage = () => {
  const { team, project, projectId } = usePlace()
  const name = useIdInPath('name')
  const found = useQuery({
    queryKey: ['leaderboard', projectId, name],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/leaderboards/read', { body: { project_id: projectId, object_id: name }, signal })),
  })
  useTitle(found.data?.name ?? name)
  if (found.data === undefined)
    return (
      <div className="page">
        {found.isError ? (
          <Failed error={found.error} what="The leaderboard" onRetry={() => void found.refetch()} />
        ) : (
          <Loading what="the leaderboard" />
        )}
      </div>
    )
  const board = found.data
  return (
    <div className="page">
      <div className="bar">
        <h1>{board.name ?? name}</h1>
        <span className="spacer" />
        <Link
          to="/$team/$project/objects/$name/$version"
          params={{ team, project, name, version: board.digest }}
        >
          Object
        </Link>
        <Link to="/$team/$project/evaluations/leaderboards" params={{ team, project }}>
          Leaderboards
        </Link>
      </div>
      {board.description && <p style={{ margin: 0, maxWidth: '80ch' }}>{board.description}</p>}
      {board.columns.flatMap(({ error = null }, at) =>
        error === null
          ? []
          : [
              <div key={at} className="notice" data-tone="warn">
                Column {at + 1} is not valid: {error}
              </div>,
            ],
      )}
      {board.models.length === 0 ? (
        <Empty title="No model has a finished run of these evaluations" />
      ) : (
        <Table
          label="Models"
          columns={columnsOf(board, `/${team}/${project}/evaluations`)}
          rows={board.models}
          keyOf={({ model }) => model}
        />
      )}
    </div>
  )
}

const columnsOf = ({ columns, models }: Board, base: string): readonly Column<Model>[] => [
  { label: 'Model', cell: ({ model }) => <span title={model}>{nameIn(model) ?? model}</span> },
  ...columns.map((column, at): Column<Model> => {
    const values = models.flatMap(({ cells }) => numberIn(cells[at]?.value) ?? [])
    const best = column.should_minimize === true ? Math.min(...values) : Math.max(...values)
    const isFraction = column.summary_metric_path.endsWith('true_fraction')
    const most = isFraction ? 1 : Math.max(...values)
    const evaluation = nameIn(column.evaluation_object_ref) ?? ''
    return {
      label: [column.scorer_name, column.summary_metric_path, evaluation]
        .filter((part) => part !== '')
        .join(' · '),
      width: 220,
      isNumber: true,
      cell: ({ cells }) => {
        const cell = cells[at]
        if (cell === null || cell === undefined) return <span className="secondary">no run</span>
        const value = numberIn(cell.value)
        return (
          <AppLink
            href={`${base}/${encodeURIComponent(cell.evaluation_run_id)}`}
            className={value !== undefined && value === best ? 'strong' : undefined}
          >
            {value === undefined ? (
              textIn(cell.value)
            ) : (
              <>
                <ScoreBar kind={isFraction ? 'boolean' : 'number'} value={value} most={most} />
                {value === best && models.length > 1 && <span className="visually-hidden">, the best</span>}
              </>
            )}
          </AppLink>
        )
      },
    }
  }),
]

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

const textIn = (value: unknown): string =>
  value === null || value === undefined
    ? 'no value'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
