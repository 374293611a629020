import { LEN, ProtobufMessage, VARINT } from '../../../kernel/protobuf-message.js'

/** An event as the server sends it. */
export interface WireEvent {
  id: string
  stream: string
  revision: bigint
  /** The commit position. For everything that is written over gRPC the prepare position is the same. */
  position: bigint
  type: string
  contentType: string
  /** In units of 100 ns since 1970, as decimal digits. */
  created: string
  metadata: Buffer
  data: Buffer
}

/** What is used of `event_store.client.streams.ReadResp`. */
export interface ReadResponse {
  event: WireEvent | undefined
  /** The commit position up to which a filtered subscription was read. */
  checkpoint: bigint | undefined
  isStreamNotFound: boolean
  isCaughtUp: boolean
}

const NOTHING = Buffer.alloc(0)

/**
 * Reads only the members that are used, which takes a quarter of the time of the generated classes.
 *
 * @throws Error for bytes that are not a message
 */
export const readResponseOf = (bytes: Buffer): ReadResponse => {
  const message = new ProtobufMessage(bytes)
  const response: ReadResponse = {
    event: undefined,
    checkpoint: undefined,
    isStreamNotFound: false,
    isCaughtUp: false,
  }
  message.read((key) => {
    switch (key) {
      case LEN(1): {
        const end = message.end()
        message.read((inner) => inner === LEN(1) && readEvent(message, (response.event = emptyEvent())), end)
        return true
      }
      case LEN(3): {
        const end = message.end()
        response.checkpoint = 0n
        message.read((inner) => {
          if (inner !== VARINT(1)) return false
          response.checkpoint = BigInt(message.uint64())
          return true
        }, end)
        return true
      }
      case LEN(4):
        response.isStreamNotFound = true
        return false
      case LEN(8):
        response.isCaughtUp = true
        return false
      default:
        return false
    }
  })
  return response
}

const emptyEvent = (): WireEvent => ({
  id: '',
  stream: '',
  revision: 0n,
  position: 0n,
  type: '',
  contentType: '',
  created: '0',
  metadata: NOTHING,
  data: NOTHING,
})

const readEvent = (message: ProtobufMessage, event: WireEvent): true => {
  message.read((key) => {
    switch (key) {
      case LEN(1):
        event.id = textIn(message, LEN(2))
        return true
      case LEN(2):
        event.stream = textIn(message, LEN(3))
        return true
      case VARINT(3):
        event.revision = BigInt(message.uint64())
        return true
      case VARINT(5):
        event.position = BigInt(message.uint64())
        return true
      case LEN(6):
        readProperty(message, event)
        return true
      case LEN(7):
        event.metadata = message.part()
        return true
      case LEN(8):
        event.data = message.part()
        return true
      default:
        return false
    }
  }, message.end())
  return true
}

/** The text that is a field of the nested message that comes next. */
const textIn = (message: ProtobufMessage, field: number): string => {
  let text = ''
  message.read((key) => {
    if (key !== field) return false
    text = message.text()
    return true
  }, message.end())
  return text
}

const readProperty = (message: ProtobufMessage, event: WireEvent): void => {
  let [name, value] = ['', '']
  message.read((key) => {
    if (key === LEN(1)) name = message.text()
    else if (key === LEN(2)) value = message.text()
    else return false
    return true
  }, message.end())
  if (name === 'type') event.type = value
  else if (name === 'content-type') event.contentType = value
  else if (name === 'created') event.created = value
}
