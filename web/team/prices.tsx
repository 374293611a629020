import { Select } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { perMillion } from '../kit/format.js'
import { useAddress } from '../kit/place.js'
import { useProjects } from '../kit/project-switcher.js'
import { SearchBox } from '../kit/search-box.js'
import { Empty, Failed, Loading } from '../kit/states.js'
import { Table, type Column } from '../kit/table.js'
import { Time } from '../kit/time.js'

type Price = Schemas['PriceInForce']

const SOURCES: Readonly<Record<Price['source'], string>> = {
  project: 'set for the project',
  upstream: 'of the upstream',
  default: 'price list of the service',
}

const COLUMNS: readonly Column<Price>[] = [
  { label: 'Model', cell: ({ model }) => <span className="mono">{model}</span> },
  {
    label: 'Input',
    width: 100,
    isNumber: true,
    cell: ({ prompt_token_cost }) => perMillion(prompt_token_cost),
  },
  {
    label: 'Output',
    width: 100,
    isNumber: true,
    cell: ({ completion_token_cost }) => perMillion(completion_token_cost),
  },
  {
    label: 'Cache read',
    width: 100,
    isNumber: true,
    cell: ({ cache_read_input_token_cost }) => perMillion(cache_read_input_token_cost),
  },
  {
    label: 'Cache write',
    width: 100,
    isNumber: true,
    cell: ({ cache_creation_input_token_cost }) => perMillion(cache_creation_input_token_cost),
  },
  { label: 'Source', width: 190, cell: ({ source }) => SOURCES[source] },
  { label: 'Since', width: 190, cell: ({ since }) => <Time at={since} /> },
]

/** The prices that apply to a project, in dollars for a million tokens. */
export const Prices = ({ team }: { readonly team: string }) => {
  const { projects } = useProjects()
  const [{ project: chosen = '', q = '' }, setAddress] = useAddress()
  const names = projects.filter((one) => one.team === team).map(({ name }) => name)
  const project = chosen === '' ? (names[0] ?? '') : chosen
  const prices = useQuery({
    queryKey: ['prices', team, project, q],
    enabled: project !== '',
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/api/prices', {
          params: { query: { project_id: `${team}/${project}`, limit: 200, ...(q === '' ? {} : { q }) } },
          signal,
        }),
      ),
  })
  if (project === '') return <Empty title="This team has no projects yet, so no prices apply" />
  return (
    <>
      <div className="bar">
        <Select
          size="xs"
          aria-label="Project"
          allowDeselect={false}
          data={names.includes(project) ? names : [...names, project]}
          value={project}
          onChange={(next) => setAddress({ project: next ?? '' })}
        />
        <SearchBox label="Search models" />
        <span className="secondary">Dollars for a million tokens</span>
      </div>
      {prices.isError && (
        <Failed error={prices.error} what="The prices" onRetry={() => void prices.refetch()} />
      )}
      {prices.isPending && <Loading what="prices" />}
      {prices.data?.data.length === 0 && <Empty title="No model with a price has this name" />}
      {prices.isSuccess && prices.data.data.length > 0 && (
        <Table label="Prices" columns={COLUMNS} rows={prices.data.data} keyOf={({ model }) => model} />
      )}
      {prices.data?.next != null && (
        <div className="secondary">The first 200 models are shown. Search for others.</div>
      )}
    </>
  )
}
