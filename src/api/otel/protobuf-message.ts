import { ProtobufMessage } from '../../kernel/protobuf-message.js'
import { countParts, type Count } from './values.js'

export class Message extends ProtobufMessage {
  private readonly countPart = countParts()

  constructor(
    bytes: Buffer,
    /** Counts values of the request. */
    readonly countValue: Count,
  ) {
    super(bytes)
  }

  /** Counts an attribute, an event or a link. */
  count(): void {
    this.countValue()
    this.countPart()
  }

  time(): bigint {
    return BigInt(this.fixed64())
  }
}
