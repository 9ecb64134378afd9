// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.codegen._

/** A class that is compiled in a task, and one object of it:
  *
  * {{{
  * class Specific extends SideReader {
  *   the fields and functions that the expressions of a context ask for
  *   public void evaluate(InternalRow i) { ... }
  * }
  * }}}
  */
object GeneratedClass {

  /** @param methods
    *   what the parent leaves open, in Java
    * @param partition
    *   for expressions that differ from one to the next
    */
  def of[C](parent: Class[C], context: CodegenContext, methods: String, partition: Int): C = {
    val name = s"Specific${parent.getSimpleName}"
    val source = s"""
      public Object generate(Object[] references) { return new $name(references); }

      class $name extends ${parent.getName} {
        private Object[] references;
        ${context.declareMutableStates()}

        public $name(Object[] references) {
          this.references = references;
          int partitionIndex = $partition;
          ${context.initMutableStates()}
          ${context.initPartition()}
        }

        $methods

        ${context.declareAddedFunctions()}
      }"""
    val code = new CodeAndComment(source, context.getPlaceHolderToComments())
    val (made, _) = CodeGenerator.compile(CodeFormatter.stripOverlappingComments(code))
    parent.cast(made.generate(context.references.toArray))
  }
}
