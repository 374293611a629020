import { openSqliteEventStore } from '../../../../src/adapters/event-store/sqlite/sqlite-event-store.js'

// Opens the file given and stays; says why it could not.
try {
  openSqliteEventStore(process.argv[2] ?? '')
  process.stdout.write('open\n')
  setInterval(() => undefined, 60_000)
} catch (error) {
  process.stdout.write(`${String(error)}\n`)
}
