import { median } from './report.js'
import {
  columnPlaces,
  doubleAssertions,
  functionsOver,
  linesAndFiles,
  outOfOrder,
  routeAnswers,
  streamsInApi,
} from './source-counts.js'
import { measureWalks } from './source-walks.js'

/**
 * Figures of the source of this checkout: its size, what is declared more than once, and how many files run for a request.
 * `npm test` is not among them: `time npm test` on idle cores.
 */

const rows: (readonly [figure: string, now: string | number, target: string])[] = []
const lists: (readonly [name: string, items: readonly string[]])[] = []

const typescript = linesAndFiles('.ts')
const sql = linesAndFiles('.sql')
rows.push(
  ['lines of src (.ts and .sql)', typescript.lines + sql.lines, '3,100 fewer'],
  ['files of src (.ts and .sql)', typescript.files + sql.files, '47 fewer'],
  ['lines of src (.ts)', typescript.lines, ''],
  ['files of src (.ts)', typescript.files, ''],
)

const long = functionsOver(60)
const longest = long.filter(({ lines }) => lines > 100)
rows.push(
  ['functions of more than 60 lines', long.length, '<= 40'],
  ['functions of more than 100 lines', longest.length, '<= 5'],
  ['those of them in api', longest.filter(({ place }) => place.startsWith('src/api/')).length, '0'],
)
lists.push(['functions of more than 60 lines', long.map(({ place, lines }) => `${lines} ${place}`)])

const streams = streamsInApi()
rows.push(['files of api that append, fold or read streams', streams.length, '0'])
lists.push(['files of api that append, fold or read streams', streams])

const answers = routeAnswers()
const checkedAs = (wanted: string) =>
  answers.filter(({ check }) => check === wanted).map(({ place }) => place)
rows.push([
  'routes whose answer the compiler checks',
  `${checkedAs('checked').length} of ${answers.length}, ${checkedAs('text').length} are text`,
  'all',
])
lists.push(['routes whose answer the compiler does not check', checkedAs('unchecked')])

const columns = [...columnPlaces()].sort((a, b) => b.places - a.places)
const places = columns.map((column) => column.places)
const most = columns.filter((column) => column.places === places[0]).map(({ column }) => column)
rows.push(
  ['declarations of a column, at most', places[0]!, '1'],
  ['declarations of a column, median', median(places), '1'],
)
lists.push([`columns with ${places[0]} declarations`, most])

rows.push(['`as unknown as` in src', doubleAssertions(), '<= 15'])

const unordered = outOfOrder()
rows.push(['imports against the order of features', unordered.length, '0'])
lists.push(['imports against the order of features', unordered])

const walks = await measureWalks()
const projections = walks.heartbeat.filter((path) => path.startsWith('projections/'))
rows.push(
  ['files of projections in a training heartbeat', projections.length, '<= 8'],
  ['files of a call start', walks.callStart.length, '<= 92'],
  ['files of a webhook message', walks.webhookMessage.length, '<= 125'],
  ['files of a completion', walks.completion.length, '<= 130'],
)
lists.push(['files of projections in a training heartbeat', projections])

const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
console.log([line(['figure', 'now', 'target']), line(['---', '---', '---']), ...rows.map(line)].join('\n'))
for (const [name, items] of lists) console.log(`\n${name}:\n${items.map((item) => `  ${item}`).join('\n')}`)
