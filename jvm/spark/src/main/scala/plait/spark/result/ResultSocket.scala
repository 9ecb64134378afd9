// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import java.io.{EOFException, IOException}
import java.net.{InetAddress, ServerSocket, Socket, SocketTimeoutException}
import java.nio.charset.StandardCharsets.US_ASCII
import java.security.{MessageDigest, SecureRandom}
import java.util.HexFormat

/** A door on the loopback interface that opens once, to the one who knows the secret.
  *
  * Whoever connects sends the secret first, 64 hexadecimal digits. A caller with another one is
  * turned away and the door waits on; it shuts after the first right one, or after ten seconds.
  *
  *   1. Callers are heard one after the other. Each has a second for all of its secret, however it comes.
  *   1. Those who knock meanwhile wait; [[ResultSocket.Waiting]] can.
  *
  * @param patience
  *   milliseconds until nobody will come any more
  * @param greeting
  *   milliseconds within which a caller has said the secret
  */
final class ResultSocket(
    patience: Int = ResultSocket.Patience,
    greeting: Int = ResultSocket.Greeting
) extends AutoCloseable {
  import ResultSocket._

  private val listener = new ServerSocket(0, Waiting, InetAddress.getLoopbackAddress)

  val secret: String = {
    val bytes = new Array[Byte](ResultSocket.SecretBytes)
    ResultSocket.random.nextBytes(bytes)
    HexFormat.of.formatHex(bytes)
  }

  def port: Int = listener.getLocalPort

  /** The connection of the one who knew the secret; `SocketTimeoutException` if nobody came. */
  def accept(): Socket =
    try {
      val end = System.nanoTime + patience * 1000000L
      // Invariant: nobody who knew the secret has come so far.
      var caller: Option[Socket] = None
      while (caller.isEmpty) {
        listener.setSoTimeout(millisTo(end))
        caller = admitted(listener.accept(), end)
      }
      caller.get
    } finally close()

  override def close(): Unit = listener.close()

  private def admitted(caller: Socket, end: Long): Option[Socket] = {
    val late = math.min(end, System.nanoTime + greeting * 1000000L)
    def isKnown: Boolean =
      try MessageDigest.isEqual(said(caller, late), secret.getBytes(US_ASCII))
      catch { case _: IOException => false }
    if (isKnown) Some(caller)
    else {
      caller.close()
      None
    }
  }

  /** As many bytes as the secret has. A time-out of a socket is for one read: each has what is left. */
  private def said(caller: Socket, late: Long): Array[Byte] = {
    val sent = new Array[Byte](secret.length)
    var length = 0
    while (length < sent.length) {
      if (System.nanoTime >= late) throw new SocketTimeoutException
      caller.setSoTimeout(millisTo(late))
      val read = caller.getInputStream.read(sent, length, sent.length - length)
      if (read < 0) throw new EOFException
      length += read
    }
    caller.setSoTimeout(0)
    sent
  }

  /** At least 1: 0 would be for ever. */
  private def millisTo(end: Long): Int = math.max(1, (end - System.nanoTime) / 1000000L).toInt
}

object ResultSocket {
  private val SecretBytes = 32
  private val Patience = 10000
  private val Greeting = 1000

  /** Callers that have connected and are not heard yet. */
  val Waiting = 64
  private val random = new SecureRandom
}
